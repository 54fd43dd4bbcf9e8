"""What a program under test can reach (docs/isolation.md), told by one that tries, as both ends."""

import itertools

import pytest

from workflow.looks import ROLES, has_no_rights, planned_look, saw_its_own_and_the_system_alone

pytestmark = pytest.mark.rights
# Root of the environment or of a container, and somebody whose every right is that of a user namespace.
STARTED_BY = {
    "as-i-am": [],
    "as-user": ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"],
}


# The two contracts by which programs are started.
CONTRACTS = ("own", "interop-runner")


@pytest.fixture(scope="module", params=itertools.product(STARTED_BY, CONTRACTS), ids="-".join)
def reached(request, tmp_path_factory):
    """What the server and the client of a load found, by role."""
    started_by, contract = request.param
    results = tmp_path_factory.mktemp("isolation")
    with planned_look(results, bridged=contract != CONTRACTS[0]) as look:
        return look.measured_in(STARTED_BY[started_by])


@pytest.mark.parametrize("role", ROLES)
def test_a_program_has_no_rights(reached, role):
    has_no_rights(reached[role])


@pytest.mark.parametrize("role", ROLES)
def test_a_program_sees_its_own_and_the_system_alone(reached, role):
    saw_its_own_and_the_system_alone(reached[role])
