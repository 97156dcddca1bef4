"""A Grafana dashboard and Prometheus alert rules, and a function that copies them to a folder."""

from pathlib import Path

from fourscore.core import ConfigError

HERE = Path(__file__).parent
#: The dashboard to import into Grafana, and the rules for Prometheus.
FILES = ("dashboard.json", "rules.yaml")


def write_files(folder: str, *, force: bool = False) -> list[Path]:
    """Copy `FILES` into a folder; unless `force`, refuse to overwrite files that differ."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            there = target / name
            if not force and there.exists() and there.read_bytes() != (HERE / name).read_bytes():
                message = "the file exists and differs; --force overwrites it"
                raise ConfigError(message, file=str(there))
        for name in FILES:
            (target / name).write_bytes((HERE / name).read_bytes())
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be written", file=folder) from None
    return [target / name for name in FILES]
