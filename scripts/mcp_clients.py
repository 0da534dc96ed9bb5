"""Drives `knowledged mcp` and /mcp with the PyPI clients `mcp` and `fastmcp`, in both eras of the protocol.

usage: mcp_clients.py BIN BASE SOCKET STATE URL     (a daemon serves BASE on SOCKET and URL)
"""
import asyncio
import contextlib
import pathlib
import sys
import warnings

import fastmcp
import mcp
from mcp.types import ResourceTemplateReference

warnings.simplefilter("ignore", mcp.MCPDeprecationWarning)  # the old era is meant to be old

BIN, BASE, SOCKET, STATE, URL = sys.argv[1:]
ARGS = ["mcp", "--base", BASE, "--socket", SOCKET, "--state", STATE]
EDITED = pathlib.Path(BASE, "api", "edited.md")
URI = "kb://api/edited.md"
PATIENCE = 20  # seconds; far beyond what anything here takes


def write(text):
    EDITED.write_text(f"---\ntitle: Edited\nkeywords: [ERR_EDITED]\nsummary: s\n---\n# Edited\n\n{text}\n", encoding="utf-8")


def check(ok, what):
    if not ok:
        raise SystemExit(f"FAIL: {what}")


async def answers(client, title):
    tools = (await client.list_tools()).tools
    check([t.name for t in tools] == ["lookup_knowledge"] and tools[0].output_schema, f"{title}: tools {tools}")
    result = await client.call_tool("lookup_knowledge", {"query": "ERR_TIMEOUT"})
    check(not result.is_error and result.structured_content["primary"]["confidence"] == "high", f"{title}: {result}")
    check(result.content[0].text.startswith("confidence: high"), f"{title}: text {result.content[0]}")
    none = await client.call_tool("lookup_knowledge", {"query": "zzqx unheard of plumbus"})
    check(none.structured_content["found"] is False, f"{title}: {none}")
    listed = (await client.list_resources()).resources
    check(len(listed) > 10, f"{title}: {len(listed)} resources")
    for r in listed:  # names in Chinese and with blanks among them
        text = (await client.read_resource(str(r.uri))).contents[0].text
        check(text, f"{title}: {r.uri} is empty")
    done = await client.complete(ResourceTemplateReference(type="ref/resource", uri="kb://{+path}"), {"name": "path", "value": "api/pay"})
    check("api/payment-errors.md" in done.completion.values, f"{title}: {done}")
    with contextlib.suppress(mcp.MCPError):
        await client.call_tool("lookup_knowledge", {"query": " "})
        check(False, f"{title}: a blank query is answered")


async def heard(queue, version):
    """Edits until the client is told: its stream may open a moment after it has connected."""
    for _ in range(PATIENCE * 5):
        write(f"{version} is new")
        with contextlib.suppress(asyncio.TimeoutError):
            return await asyncio.wait_for(queue.get(), 0.2)
        version += "x"
    raise SystemExit("FAIL: never told of an edit")


async def drive(server, mode, title):
    queue = asyncio.Queue()

    async def told(message):
        if "ResourceUpdated" in type(getattr(message, "root", message)).__name__:
            await queue.put(message)

    write("old")
    async with mcp.Client(server, mode=mode, message_handler=told, cache=None) as client:
        await answers(client, title)
        if client.protocol_version >= "2026-07-28":
            async with client.listen(resources_list_changed=True, resource_subscriptions=[URI]) as events:
                async def pump():
                    async for event in events:
                        await queue.put(event)
                task = asyncio.create_task(pump())
                await heard(queue, title)
                task.cancel()
        else:
            await client.subscribe_resource(URI)
            await heard(queue, title)
        result = await client.call_tool("lookup_knowledge", {"query": "ERR_EDITED"})
        check(title in result.content[0].text, f"{title}: answers from the old text: {result.content[0].text}")
        print(f"ok   mcp {mcp_version()} {title}: protocol {client.protocol_version}")


def mcp_version():
    from importlib.metadata import version
    return version("mcp")


async def main():
    stdio = mcp.StdioServerParameters(command=BIN, args=ARGS)
    for title, server in (("stdio", stdio), ("http", URL)):
        for mode in ("legacy", "auto"):
            await asyncio.wait_for(drive(server, mode, f"{title} {mode}"), 2 * PATIENCE)
    for title, transport in (
        ("stdio", fastmcp.client.transports.StdioTransport(command=BIN, args=ARGS, keep_alive=False)),
        ("http", URL),
    ):
        async with fastmcp.Client(transport) as client:
            result = await client.call_tool("lookup_knowledge", {"query": "ERR_TIMEOUT"})
            check(result.structured_content["found"], f"fastmcp {title}: {result}")
            check(len(await client.list_resources()) > 10, f"fastmcp {title}: resources")
            print(f"ok   fastmcp {fastmcp.__version__} {title}")


asyncio.run(main())
