"""Files for those who watch with Prometheus and Grafana, and how they are written out."""

from pathlib import Path

from fourscore.core import ConfigError

HERE = Path(__file__).parent
#: The dashboard to import into Grafana, and the rules for Prometheus.
FILES = ("dashboard.json", "rules.yaml")


def write_files(folder: str, *, force: bool = False) -> list[Path]:
    """Copy them into a folder; what differs there stays, unless forced."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            there = target / name
            if not force and there.exists() and there.read_bytes() != (HERE / name).read_bytes():
                message = "it is there and differs; --force writes over it"
                raise ConfigError(message, file=str(there))
        for name in FILES:
            (target / name).write_bytes((HERE / name).read_bytes())
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be written", file=folder) from None
    return [target / name for name in FILES]
