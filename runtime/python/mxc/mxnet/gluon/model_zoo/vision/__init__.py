# SPDX-License-Identifier: Apache-2.0
"""Networks for pictures: AlexNet, DenseNet, Inception, MobileNet, ResNet, SqueezeNet, VGG."""
# Before the function `alexnet` takes the module's name.
from . import alexnet as _alexnet, densenet as _densenet, inception as _inception
from . import mobilenet as _mobilenet, resnet as _resnet, squeezenet as _squeezenet, vgg as _vgg
from .alexnet import *  # noqa: F403
from .densenet import *  # noqa: F403
from .inception import *  # noqa: F403
from .mobilenet import *  # noqa: F403
from .resnet import *  # noqa: F403
from .squeezenet import *  # noqa: F403
from .vgg import *  # noqa: F403

_MODULES = (_alexnet, _densenet, _inception, _mobilenet, _resnet, _squeezenet, _vgg)

# By the names of `get_model`, which have dots where Python's have underscores.
_MODELS = {name.replace("0_", "0.") if name.startswith(("squeezenet", "mobilenet")) else name:
           getattr(module, name)
           for module in _MODULES for name in module.__all__
           if name.islower() and not name.startswith("get_")}
_MODELS.update({
    "inceptionv3": _MODELS.pop("inception_v3"),
    "squeezenet1.0": _squeezenet.squeezenet1_0, "squeezenet1.1": _squeezenet.squeezenet1_1,
    **{"mobilenet" + width: getattr(_mobilenet, "mobilenet" + width.replace(".", "_"))
       for width in ("1.0", "0.75", "0.5", "0.25")},
    **{"mobilenetv2_" + width: getattr(_mobilenet, "mobilenet_v2_" + width.replace(".", "_"))
       for width in ("1.0", "0.75", "0.5", "0.25")}})


def get_model(name, **kwargs):
    """The network of a name, as "resnet50_v1"; `kwargs` are its function's."""
    name = name.lower()
    if name not in _MODELS:
        raise ValueError(f"There is no network '{name}'; there are "
                         f"{', '.join(sorted(_MODELS))}.")
    return _MODELS[name](**kwargs)


__all__ = ["get_model"] + [name for module in _MODULES for name in module.__all__]
