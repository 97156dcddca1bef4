"""Posts alerts as signed JSON to a URL, one alert a request.

Headers and signature are those of Standard Webhooks (standardwebhooks.com), so that a receiver can
check them with an existing library: `webhook-id` is the same for all attempts to send one alert,
`webhook-timestamp` is the time of the attempt in seconds, and `webhook-signature` is `v1,` and the
base64 of the HMAC-SHA256 of `id.timestamp.body`.
"""

import base64
import binascii
import hmac
import time
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

from fourscore.core import ConfigError
from fourscore.monitor.alert_text import facts, headline
from fourscore.monitor.alerts import Notice, Policy
from fourscore.monitor.sinks.http import Address
from fourscore.monitor.sinks.secrets import Secret

#: The prefix of a secret in base64.
PREFIX = "whsec_"
#: Bytes of a secret at least; a shorter one can be guessed.
MIN_SECRET = 16


class Webhook:
    """A sink for a URL. `secret` signs the body; `token` is sent as a bearer token."""

    together = 1

    def __init__(
        self,
        url: str | Secret,
        name: str = "webhook",
        *,
        secret: Secret | None = None,
        token: Secret | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.name, self.policy = name, policy or Policy()
        self._address, self._token = Address(url), token
        self._key = None if secret is None else _read_key(secret)

    def send(self, notices: Sequence[Notice]) -> None:
        for notice in notices:
            body = msgspec.json.encode(make_payload(notice))
            now = str(int(time.time()))
            headers = {
                "content-type": "application/json",
                "user-agent": "fourscore",
                "webhook-id": notice.id,
                "webhook-timestamp": now,
            }
            if self._key is not None:
                headers["webhook-signature"] = sign(self._key, notice.id, now, body)
            if self._token is not None:
                headers["authorization"] = f"Bearer {self._token.reveal()}"
            self._address.post(body, headers)


def make_payload(notice: Notice) -> dict[str, Any]:
    """Return the JSON payload of an alert; `type` is the event's name as in Standard Webhooks."""
    return {
        "type": f"alert.{notice.state}",
        "title": headline(notice),
        "facts": facts(notice),
        **msgspec.to_builtins(notice),
    }


def sign(key: bytes, id_: str, timestamp: str, body: bytes) -> str:
    """Return the value of the header `webhook-signature`."""
    digest = hmac.digest(key, f"{id_}.{timestamp}.".encode() + body, sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def _read_key(secret: Secret) -> bytes:
    text = secret.reveal()
    if text.startswith(PREFIX):
        try:
            key = base64.b64decode(text[len(PREFIX) :], validate=True)
        except binascii.Error:
            raise ConfigError(f"the text after {PREFIX} is not base64", field="secret") from None
    else:
        key = text.encode()
    if len(key) < MIN_SECRET:
        message = f"expected at least {MIN_SECRET} bytes; make one with: openssl rand -hex 32"
        raise ConfigError(message, field="secret")
    return key
