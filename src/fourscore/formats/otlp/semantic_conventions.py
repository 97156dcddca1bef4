"""Attribute names of OpenTelemetry's semantic conventions, in one place.

OpenTelemetry's own package marks its GenAI constants as deprecated while the conventions move, so
they are written out here: today's names, the older ones that instrumentations still send, and
those of OpenInference, which Phoenix uses.
"""

# GenAI: https://opentelemetry.io/docs/specs/semconv/gen-ai/
OPERATION = "gen_ai.operation.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
AGENT = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
INPUT_TOKENS = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
OUTPUT_TOKENS = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
#: Operations by role; an operation that is not listed here is a model call.
TOOL_OPERATIONS = frozenset({"execute_tool"})
AGENT_OPERATIONS = frozenset({"invoke_agent", "create_agent", "invoke_workflow"})
SILENT_OPERATIONS = frozenset({"embeddings", "retrieval", "evaluate"})

# Older GenAI names: texts as attributes, or as events of a span.
PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"
PROMPT_EVENT = "gen_ai.content.prompt"
COMPLETION_EVENT = "gen_ai.content.completion"
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
CHOICE_EVENT = "gen_ai.choice"
MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}

# OpenInference: https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
KIND = "openinference.span.kind"
INPUT_VALUE = "input.value"
OUTPUT_VALUE = "output.value"
LLM_INPUT = "llm.input_messages"
LLM_OUTPUT = "llm.output_messages"
LLM_INPUT_TOKENS = "llm.token_count.prompt"
LLM_OUTPUT_TOKENS = "llm.token_count.completion"
LLM_COST = "llm.cost.total"
LLM_MODEL = "llm.model_name"
OI_TOOL = "tool.name"
OI_TOOL_PARAMETERS = "tool.parameters"
OI_TOOL_CALL_ID = "tool_call.id"
DOCUMENTS = "retrieval.documents"
OI_SESSION = "session.id"
OI_TAGS = "tag.tags"
#: Kinds whose output is not the agent's.
SILENT_KINDS = frozenset({"EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR", "PROMPT"})
AGENT_KINDS = frozenset({"AGENT", "CHAIN"})

# Common to all.
ERROR_TYPE = "error.type"
EXCEPTION_EVENT = "exception"
EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"
SERVICE = "service.name"
SERVICE_VERSION = "service.version"
#: Ours: tags to monitor separately, on any span of a trace, as a list or separated by commas.
TAGS = "fourscore.tags"
#: Ours: the user's feedback on the answer; `down` is a thumbs-down.
FEEDBACK = "fourscore.feedback"

#: Prefixes of attributes that are read; the others are dropped on arrival.
_KEPT = (
    "gen_ai.",
    "llm.",
    "input.",
    "output.",
    "tool.",
    "tool_call.",
    "openinference.",
    "retrieval.",
    "fourscore.",
)
_KEPT_WHOLE = frozenset({ERROR_TYPE, OI_SESSION, OI_TAGS, SERVICE, SERVICE_VERSION})
#: Long, and not used here.
_DROPPED = ("gen_ai.tool.definitions", "llm.tools", "llm.invocation_parameters", "tool.json_schema")


def is_kept(key: str) -> bool:
    """Return whether an attribute describes an agent's input, actions or output."""
    return (key.startswith(_KEPT) and not key.startswith(_DROPPED)) or key in _KEPT_WHOLE
