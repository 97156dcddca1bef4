"""Check what a command needs before its first case: prices, keys and endpoints.

A missing key or an endpoint that is not there would otherwise be found in every case, one after
the other. Each command that asks models, or an agent or a judge over HTTP, comes through here.
"""

import argparse
import asyncio
from collections.abc import Iterable
from typing import Any

from fourscore.models.endpoint import EndpointModel
from fourscore.models.model_pool import ModelPool
from fourscore.models.probe import Probed, probe_all
from fourscore.models.wrapper import find_layer


def add_probe_flag(parser: argparse.ArgumentParser) -> None:
    text = "do not check first that the endpoints of models, agents and judges can be reached"
    parser.add_argument("--no-probe", dest="probe", action="store_false", help=text)


def check_users(pool: ModelPool, users: Iterable[Any], *, probe: bool) -> None:
    """Raise a `ConfigError` where an agent, a judge or a proposer of a command cannot work.

    `probe`: also ask each endpoint once, which costs no call of a model.
    """
    endpoints: dict[str, Probed] = {}
    with pool.activate():
        for user in users:
            pool.check_user(user)
            client = find_layer(getattr(user, "pool_model", None), EndpointModel)
            core = getattr(user, "core", None)  # of a judge with AgentJet's face
            for one in (user, core, client):
                if isinstance(one, Probed):
                    endpoints.setdefault(repr(one), one)
    if probe and endpoints:
        asyncio.run(probe_all(list(endpoints.values())))
