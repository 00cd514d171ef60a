# SPDX-License-Identifier: Apache-2.0
"""Which KVStore a Trainer has, and where its optimizer runs."""


def choose(kvstore, update_on_kvstore, contexts, values, sparse, create):
    """(store or None, whether it updates) for `contexts` contexts.

    `create(store, contexts, values)` makes the store of a name and says what is best."""
    store, best = create(kvstore, 1 if sparse and contexts == 0 else contexts, values)
    if sparse:
        return _for_sparse(kvstore, update_on_kvstore, store)
    if store is None:
        return None, False
    if update_on_kvstore is not None:
        if update_on_kvstore and not _can_update(store):
            raise ValueError(f"The KVStore '{store.type}' cannot run the optimizer: make the "
                             "Trainer with update_on_kvstore=False.")
        if "async" in store.type and not update_on_kvstore:
            raise ValueError("An asynchronous KVStore updates in its servers: make the Trainer "
                             "with update_on_kvstore=True.")
        best = update_on_kvstore
    return store, best and _can_update(store)


def _can_update(store):
    capable = getattr(store, "is_capable", None)
    return capable is None or capable("optimizer")


def _for_sparse(kvstore, update_on_kvstore, store):
    if update_on_kvstore is False:
        raise ValueError("Parameters that are row_sparse are updated in the KVStore: "
                         "update_on_kvstore=False is not for them.")
    if store is None:
        from .. import kvstore as _kvstore
        store = _kvstore.create(kvstore or "device")
    return store, True
