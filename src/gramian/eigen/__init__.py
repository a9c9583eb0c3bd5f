"""Methods for the leading eigenpairs of a symmetric operator, and the proof of what they found."""

from gramian.eigen.certificate import Certificate, CertificateLine, certify
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.pairs import EigenPairs, EigenSolver, Probe
from gramian.eigen.power import Power

__all__ = [
    "Certificate",
    "CertificateLine",
    "Direct",
    "EigenPairs",
    "EigenSolver",
    "Krylov",
    "Power",
    "Probe",
    "certify",
]
