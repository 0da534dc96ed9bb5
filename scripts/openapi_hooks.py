"""What OpenAPI has no words for."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """The part `file` of an upload's form carries the document's name as its filename."""
    if case.method != "POST" or case.path != "/v1/documents":
        return
    body = case.body
    if isinstance(body, dict) and isinstance(body.get("file"), (str, bytes)) and "multipart" in (case.media_type or ""):
        fields = {name: (None, str(value)) for name, value in body.items() if name != "file"}
        kwargs["files"] = [*fields.items(), ("file", ("form.md", body["file"], "text/markdown"))]
        kwargs.pop("data", None)
        for name in [h for h in kwargs.get("headers", {}) if h.lower() == "content-type"]:
            del kwargs["headers"][name]


@schemathesis.hook
def filter_case(context, case):
    """A document is text. A JSON object in its place arrives as text, too: there is no wrong type to refuse."""
    text = case.method == "PUT" and case.path == "/v1/documents/{category}/{fileName}"
    return not text or not isinstance(case.body, (dict, list, int, float, bool, type(None)))
