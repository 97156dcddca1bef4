"""Who may ask: a token as `Authorization: Bearer TOKEN`, or as the password of a URL.

Trainers such as OpenRLHF take an address and nothing else; `http://any:TOKEN@host/…` makes their
HTTP client send it.
"""

import binascii
import hmac

from fourscore.server.settings import digest
from fourscore.server.wire import Refusal

_ASK = ((b"www-authenticate", b'Bearer realm="fourscore", Basic realm="fourscore"'),)


def check(header: bytes | None, token: bytes) -> None:
    """Refuse a request that does not carry the token whose digest this is."""
    given = _given(header or b"")
    # Both sides are digests: neither the time taken nor the length says anything of the token.
    if given is None or not hmac.compare_digest(digest(given), token):
        message = "expected the server's token: Authorization: Bearer TOKEN"
        raise Refusal(401, "unauthorized", message, headers=_ASK)


def _given(header: bytes) -> bytes | None:
    scheme, _, word = header.partition(b" ")
    match scheme.lower():
        case b"bearer":
            return word.strip()
        case b"basic":
            try:
                return binascii.a2b_base64(word.strip(), strict_mode=True).partition(b":")[2]
            except binascii.Error:
                return None
    return None
