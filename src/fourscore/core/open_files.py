"""How much may happen at once where a process may open few files (`ulimit -n`)."""

import resource

#: Threads, connections, processes and cases share the limit.
SHARE = 4


def fit_to_open_files(most: int, files: int) -> int:
    """Return `most`, or how many users of `files` files each fit into a share of the limit.

    The soft limit is raised as far as needed and as the hard one allows.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = SHARE * most * files
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return most
    soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, soft // (SHARE * files))
