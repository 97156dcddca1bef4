"""A server on loopback that answers every POST, in a thread of its own: a client may run in any
event loop."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextmanager
def served(handler: Handler, method: str = "POST") -> Iterator[str]:
    """Its address; `method` may be `*`. Requests that are under way at its end are cut off."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_route(method, "/{path:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.05, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
