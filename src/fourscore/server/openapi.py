"""The OpenAPI document, made from the types that the server reads and writes."""

from typing import Any

import msgspec

from fourscore.formats.recorded_outputs import _Row
from fourscore.server.messages import Health, Problem
from fourscore.server.reward_routes import REWARD_ROUTES, RewardRoute
from fourscore.server.settings import Settings

#: Where OpenTelemetry's exporters post, if the server has a monitor.
TRACES = "/v1/traces"
#: Where Prometheus reads the counters of the server, and the monitor's metrics.
METRICS = "/metrics"
_PLACE = "#/components/schemas/{name}"
_REFUSALS = {
    400: "the body is not JSON, or not of this shape; `field` says where. Or a header came twice",
    401: "the token is missing or wrong",
    404: "there is nothing at this path",
    405: "another method is expected",
    408: "the body did not arrive within the deadline",
    413: "the body is too long",
    415: "the body is of another type than is read here",
    421: "the Host header names another server",
    422: "an output could not be judged: its task lacks what the judge needs",
    429: "too many requests are under way",
    500: "a bug in the server",
    502: "the judge failed",
    503: "the disk does not keep up; try again",
    504: "no answer within the deadline",
}
_HEADERS = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}
_POST_REFUSALS = (400, 408, 413, 415, 429, 500, 504)


def make_document(settings: Settings) -> dict[str, Any]:
    """Return the OpenAPI document of a server with these settings, with every status code."""
    from fourscore import __version__

    needs_token = settings.token is not None
    kinds = [
        kind
        for route in REWARD_ROUTES.values()
        for kind in (route.request_type, route.reply_type)
        if kind
    ]
    _, schemas = msgspec.json.schema_components(
        [_Row, Health, Problem, *kinds], ref_template=_PLACE
    )
    paths: dict[str, Any] = {
        path: {"post": _describe_rewards(route, needs_token)}
        for path, route in REWARD_ROUTES.items()
    }
    if settings.monitor is not None:
        paths[TRACES] = {"post": _describe_traces(needs_token)}
    paths[METRICS] = {"get": _describe_metrics(needs_token)}
    paths["/healthz"] = {
        "get": _describe_page("Is the server up?", _ref("Health"), needs_token=False)
    }
    paths["/openapi.json"] = {
        "get": _describe_page("This document", {"type": "object"}, needs_token)
    }
    components: dict[str, Any] = {"schemas": _complete_schemas(schemas)}
    if needs_token:
        components["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "basic": {"type": "http", "scheme": "basic", "description": "the token as password"},
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Fourscore reward server", "version": __version__},
        "paths": paths,
        "components": components,
    }


def _describe_rewards(route: RewardRoute, needs_token: bool) -> dict[str, Any]:
    body = _ref("RowsRequest" if route.request_type is None else route.request_type.__name__)
    return {
        "summary": route.summary,
        "requestBody": {"required": True, "content": _json(body)},
        **_describe_answers(
            _ref(route.reply_type.__name__), (*_POST_REFUSALS, *route.refusals), needs_token
        ),
    }


def _describe_traces(needs_token: bool) -> dict[str, Any]:
    """Describe `/v1/traces`, with the parts of OTLP that are read."""
    done = {"type": "object", "properties": {"partialSuccess": {"type": "object"}}}
    status = {"type": "object", "properties": {"message": {"type": "string"}}}
    answers = _describe_answers(done, (*_POST_REFUSALS, 503), needs_token)
    for code, response in answers["responses"].items():
        response["content"] = _otlp(done if code == "200" else status)
    return {
        "summary": "Spans of OpenTelemetry, for the monitor",
        "requestBody": {"required": True, "content": _otlp(_make_spans_schema())},
        **answers,
    }


def _make_spans_schema() -> dict[str, Any]:
    """Return the schema of an `ExportTraceServiceRequest`; attribute values are any object."""
    pair = _object(key={"type": "string"}, value={"type": "object"})
    attributes = {"type": "array", "items": pair}
    moment = {"type": "string", "pattern": "^[0-9]{1,19}$"}
    text = {"type": "string"}
    span = _object(
        traceId=text,
        spanId=text,
        parentSpanId=text,
        name=text,
        startTimeUnixNano=moment,
        endTimeUnixNano=moment,
        attributes=attributes,
        status=_object(code={"type": "integer"}, message=text),
        events={"type": "array", "items": _object(name=text, attributes=attributes)},
    )
    scope = _object(spans={"type": "array", "items": span})
    resource = _object(attributes=attributes)
    each = _object(resource=resource, scopeSpans={"type": "array", "items": scope})
    return _object(resourceSpans={"type": "array", "items": each})


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _describe_metrics(needs_token: bool) -> dict[str, Any]:
    answers = _describe_answers({"type": "string"}, (503,), needs_token)
    answers["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    return {
        "summary": "Counters of the server and its monitor, in Prometheus' text format",
        **answers,
    }


def _otlp(schema: dict[str, Any]) -> dict[str, Any]:
    return {**_json(schema), "application/x-protobuf": {"schema": {}}}


def _describe_page(summary: str, schema: dict[str, Any], needs_token: bool) -> dict[str, Any]:
    return {"summary": summary, **_describe_answers(schema, (), needs_token)}


def _describe_answers(
    schema: dict[str, Any], refusals: tuple[int, ...], needs_token: bool
) -> dict[str, Any]:
    statuses = sorted({400, *refusals, 405, 421, *([401] if needs_token else [])})
    responses: dict[str, Any] = {"200": {"description": "the answer", "content": _json(schema)}}
    for status in statuses:
        responses[str(status)] = {
            "description": _REFUSALS[status],
            "content": _json(_ref("Problem")),
        }
        if status in _HEADERS:
            header = {"required": True, "schema": {"type": "string"}}
            responses[str(status)]["headers"] = {_HEADERS[status]: header}
    answers: dict[str, Any] = {"responses": responses}
    return {"security": [{"bearer": []}, {"basic": []}], **answers} if needs_token else answers


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _PLACE.format(name=name)}


def _complete_schemas(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas under public names, with the rules that types cannot express."""
    text = msgspec.json.encode(schemas).replace(b"schemas/_", b"schemas/")
    exact: dict[str, Any] = {
        name.lstrip("_"): {**schema, "title": name.lstrip("_")}
        for name, schema in msgspec.json.decode(text).items()
    }
    some, none = {"type": "array", "minItems": 1}, {"type": "null"}
    exact["Row"]["anyOf"] = [
        {"required": ["output"], "properties": {"output": {"type": "object"}, "outputs": none}},
        {"required": ["outputs"], "properties": {"output": none, "outputs": some}},
    ]
    rows = {"type": "array", "items": _ref("Row"), "minItems": 1}
    exact["RowsRequest"] = {
        "anyOf": [
            {"allOf": [_ref("Row"), {"not": {"required": ["rows"]}}]},
            {"type": "object", "required": ["rows"], "properties": {"rows": rows}},
        ]
    }
    exact["OpenRLHFRequest"]["properties"]["query"]["minItems"] = 1
    return exact
