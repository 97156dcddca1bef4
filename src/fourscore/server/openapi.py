"""The OpenAPI document, made from the types that requests are read into and replies made of."""

from typing import Any

import msgspec

from fourscore.formats.recorded_outputs import _Row
from fourscore.server.routes import METRICS, SHAPES, TRACES, Shape
from fourscore.server.settings import Settings
from fourscore.server.wire import Health, Problem

_PLACE = "#/components/schemas/{name}"
_REFUSALS = {
    400: "the body is not JSON, or not of this shape; `field` says where",
    401: "the token is missing or wrong",
    404: "there is nothing at this path",
    405: "another method is expected",
    408: "the body did not arrive within the deadline",
    413: "the body is too long",
    415: "the body is of another type than is read here",
    422: "an output could not be judged: its task lacks what the judge needs",
    429: "too many requests are under way",
    500: "a bug in the server",
    502: "the judge failed",
    503: "the disk does not keep up; try again",
    504: "no answer within the deadline",
}
_HEADERS = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}
_POSTED = (400, 408, 413, 415, 429, 500, 504)


def document(settings: Settings) -> dict[str, Any]:
    """What this server answers, to the last status code."""
    from fourscore import __version__

    guarded = settings.token is not None
    kinds = [kind for shape in SHAPES.values() for kind in (shape.request, shape.reply) if kind]
    _, schemas = msgspec.json.schema_components(
        [_Row, Health, Problem, *kinds], ref_template=_PLACE
    )
    paths: dict[str, Any] = {
        path: {"post": _post(shape, guarded)} for path, shape in SHAPES.items()
    }
    if settings.monitor is not None:
        paths[TRACES] = {"post": _traces(guarded)}
        paths[METRICS] = {"get": _metrics(guarded)}
    paths["/healthz"] = {"get": _get("Is the server up?", _ref("Health"), guarded=False)}
    paths["/openapi.json"] = {"get": _get("This document", {"type": "object"}, guarded)}
    components: dict[str, Any] = {"schemas": _rows_made_exact(schemas)}
    if guarded:
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


def _post(shape: Shape, guarded: bool) -> dict[str, Any]:
    body = _ref("RowsRequest" if shape.request is None else shape.request.__name__)
    return {
        "summary": shape.summary,
        "requestBody": {"required": True, "content": _json(body)},
        **_answers(_ref(shape.reply.__name__), (*_POSTED, *shape.refusals), guarded),
    }


def _traces(guarded: bool) -> dict[str, Any]:
    """OTLP's shapes, as far as they are read here."""
    done = {"type": "object", "properties": {"partialSuccess": {"type": "object"}}}
    status = {"type": "object", "properties": {"message": {"type": "string"}}}
    answers = _answers(done, (*_POSTED, 503), guarded)
    for code, response in answers["responses"].items():
        response["content"] = _otlp(done if code == "200" else status)
    return {
        "summary": "Spans of OpenTelemetry, for the monitor",
        "requestBody": {"required": True, "content": _otlp(_spans())},
        **answers,
    }


def _spans() -> dict[str, Any]:
    """An `ExportTraceServiceRequest` in JSON; of values only that they are objects."""
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


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _metrics(guarded: bool) -> dict[str, Any]:
    answers = _answers({"type": "string"}, (503,), guarded)
    answers["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    return {"summary": "What the monitor knows, in Prometheus' text format", **answers}


def _otlp(schema: dict[str, Any]) -> dict[str, Any]:
    return {**_json(schema), "application/x-protobuf": {"schema": {}}}


def _get(summary: str, schema: dict[str, Any], guarded: bool) -> dict[str, Any]:
    return {"summary": summary, **_answers(schema, (), guarded)}


def _answers(schema: dict[str, Any], refusals: tuple[int, ...], guarded: bool) -> dict[str, Any]:
    statuses = sorted({*refusals, 405, *([401] if guarded else [])})
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
    return {"security": [{"bearer": []}, {"basic": []}], **answers} if guarded else answers


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _PLACE.format(name=name)}


def _rows_made_exact(schemas: dict[str, Any]) -> dict[str, Any]:
    """The reader's own types, by public names, with the rules that types cannot say."""
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
