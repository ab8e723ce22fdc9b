"""The numbers of a verdict (`features` in schemas/verdict.json) as a classifier wants them."""

import math

#: What a document says by itself, without any other.
OWN = ("n_words", "n_core_words", "n_terms", "n_long_sentences", "n_links", "n_link_domains")

#: What only the stream can say: who else is like it, how many, on how many domains.
STREAM = (
    "resemblance", "overlap", "containment", "group_size", "group_domains", "imatch_hits", "minhash_hits",
    "patch_fraction", "n_sources", "source_share_max", "sources_linked", "grams_known", "frame", "style", "style_bins",
    "cluster_size", "cluster_domains", "cluster_linked", "n_related",
)  # fmt: skip

NAMES = OWN + STREAM

#: Shares of one stay as they are; counts run over several orders of magnitude, and their logarithm says more.
SHARES = {
    "resemblance", "overlap", "containment", "patch_fraction", "source_share_max", "sources_linked", "grams_known",
    "frame", "style", "cluster_linked",
}  # fmt: skip


def numbers(features: dict) -> list[float]:
    """In the order of `NAMES`. A document that was rejected has none: they are 0."""
    values = (float(features.get(name, 0)) for name in NAMES)
    return [value if name in SHARES else math.log1p(value) for name, value in zip(NAMES, values)]
