"""NeMo Gym: read and answer the requests to a resources server's `/verify`."""

from fourscore.train.nemo_gym_format import read_request, write_response

__all__ = ["read_request", "write_response"]
