"""What a fitted kernel PCA does: scores of new rows, their errors, and the way back."""

from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import Array, HostArray
from gramian.eigen.certificate import Certificate
from gramian.estimators.kernel_fields import like_rows, rows_of_scores
from gramian.estimators.opening import open_new_rows
from gramian.estimators.saving import Saved
from gramian.estimators.shown import Reported
from gramian.features.kernel_error import KernelError
from gramian.models.kernel_pca import KernelPCAModel
from gramian.models.preimage import Preimages
from gramian.models.preimage_choice import ChosenPreimage
from gramian.models.score_file import write_scores
from gramian.planning.kernel_plan import KernelPlan
from gramian.sources.opening import require_finite
from gramian.sources.rows import Block, RowSource

NO_INVERSE = (
    "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse transform is not "
    "available. Set it, or pre_image, and fit again."
)


class KernelProjection(Reported, Saved, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A fitted map to kernel scores and back, in scikit-learn's manners. Abstract: see ``KernelPCA``."""

    n_features_in_: int
    feature_names_in_: HostArray
    eigenvalues_: HostArray
    _model: KernelPCAModel
    _preimage: ChosenPreimage

    @property
    def certificate_(self) -> Certificate:
        """How far each component can be from the truth, and how that is known; prints as a table."""
        return self._fitted_model().certificate

    @property
    def plan_(self) -> KernelPlan:
        """What was done, why, and what it was expected to cost."""
        return self._fitted_model().plan

    @property
    def approximate_(self) -> bool:
        """Whether the model is that of landmarks or features near the kernel, not of the kernel."""
        return self._fitted_model().approximate

    @property
    def error_estimate_(self) -> KernelError | None:
        """The measured error of the approximation of K; None for an exact model."""
        return self._fitted_model().error

    @property
    def verdict_(self) -> str:
        """How the number of components was chosen, in words; empty when it was given."""
        return self._fitted_model().verdict

    def transform(self, X: Any) -> Array:
        """Project rows on the components.

        Computes  Y = kc(X, X_fit) A,  A = u / sqrt(lambda);  components with a zero eigenvalue score zero.  Cost: n
        kernel values a row, in pieces of 8 MB; m for a model on m landmarks.

        Parameters
        ----------
        X : array, sparse array or table (m, d)
            With ``kernel="precomputed"`` the kernel values between new rows and those of the fit (m, n).

        Returns
        -------
        Y : array (m, k)
            In the library and the precision of X. For a Dask array or data frame a Dask array, lazily.
        """
        model, source = self._opened(X)
        return like_rows(model.project(source), source)

    def write_scores(self, X: Any, path: str | PathLike[str]) -> Path:
        """Project rows and write the scores to a .parquet, .npy or .csv file, block by block: see ``PCA.write_scores``.

        Parameters
        ----------
        X : path, array, sparse array or table (m, d)
        path : path

        Returns
        -------
        path : Path
        """
        model, source = self._opened(X)
        return write_scores(partial(_scores, model), source, path, names=self.get_feature_names_out())

    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance of each row from the components, in feature space.

        Computes  kc(x, x) - |y|^2,  what kernel PCA makes small, from the kernel alone (no phi, no pre-image). With a
        linear kernel it is the ``reconstruction_error`` of ``PCA``.  Cost: that of ``transform``.

        Parameters
        ----------
        X : array, sparse array or table (m, d)

        Returns
        -------
        errors : array (m,)
        """
        model, source = self._opened(X)
        return like_rows(model.squared_error(source), source)

    def inverse_transform(self, X: Any) -> Array:
        """Return rows whose features are near to what scores stand for.

        Cost: see ``pre_image``; for the ridge n kernel values a line of scores.

        Parameters
        ----------
        X : array (m, k)
            Scores, as ``transform`` gives them.

        Returns
        -------
        rows : array (m, d)
        """
        return self.pre_images(X).rows

    def pre_images(self, X: Any) -> Preimages:
        """Return what ``inverse_transform`` does, with the error of every row.

        Parameters
        ----------
        X : array (m, k)
            Scores, as ``transform`` gives them.

        Returns
        -------
        Preimages
            ``rows`` (m, d); ``errors`` (m,), the squared distance in feature space that is left; ``found`` (m,),
            False where the method fell back on its start.
        """
        check_is_fitted(self, "_model")
        check_is_fitted(self, "_preimage", msg=NO_INVERSE)
        return rows_of_scores(self._preimage.fitted, X, k=len(self.eigenvalues_))

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return len(self.eigenvalues_)

    def _fitted_model(self) -> KernelPCAModel:
        if "_model" not in self.__dict__:
            check_is_fitted(self, "_model")
        return self._model

    def _opened(self, X: Any) -> tuple[KernelPCAModel, RowSource]:
        """Open new rows for a fitted model: fitted at all, the same columns, finite."""
        model = self._fitted_model()
        source = open_new_rows(self, X)
        # Looked for in the rows: a kernel may well give finite numbers for infinite ones. Lazy ones look by themselves.
        if source.is_local:
            require_finite(source)
        return model, source


def _scores(model: KernelPCAModel, block: Block) -> Array:
    return model.project(block.rows)
