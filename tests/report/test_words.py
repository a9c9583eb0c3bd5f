import pytest

from gramian.pictures.certificate import CertificateTable
from gramian.report import certificate_words


def certificate(grades, *, angle="2.0e-14", n_free=0):
    """A certificate with these grades."""
    return CertificateTable((), (), grades, "1.0e-14", angle, n_free)


@pytest.mark.parametrize(
    "table, said",
    [
        (
            certificate(("proved", "proved")),
            "Both components are proved: no variance is off by more than 1.0e-14",
        ),
        (certificate(("proved",)), "The one component is proved: "),
        (certificate(("proved",) * 3), "All 3 components are proved: "),
        (certificate(("proved", "probable")), "Of 2 components: 1 proved, 1 probable."),
        (
            certificate(("proved",) * 4, n_free=2),
            "2 share their variance with others and are fixed only together.",
        ),
        (certificate(("proved",) * 2, angle="none", n_free=2), "no direction is fixed by itself."),
    ],
)
def test_certificate_is_told_with_its_limits(table, said):
    """The sentence names grades, bounds, and what is not fixed."""
    assert said in certificate_words(table)
