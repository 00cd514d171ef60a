# SPDX-License-Identifier: Apache-2.0
"""Words behind example scripts: data that stand_ins.py lays, and work that ends within
a minute. A line is a run; scripts that are not here run once, without words."""

_CLASSIFY = "image-classification/"
_IMAGENET = (" --benchmark 1 --num-examples 8 --num-epochs 1 --batch-size 2"
             " --disp-batches 1 --num-classes 100")

# Networks of train_imagenet.py, with what each wants.
_NETWORKS = {"googlenet": "--image-shape 3,128,128", "mobilenet":
             "--image-shape 3,64,64", "resnet": "--num-layers 18 --image-shape 3,64,64",
             "alexnet": ""}
_CIFAR = (" --network resnet --num-layers 8 --num-classes 10 --num-examples 100"
          " --image-shape 3,28,28 --batch-size 20 --num-epochs 2 --disp-batches 2"
          " --data-train data/cifar10_train.rec --data-val data/cifar10_val.rec"
          " --data-nthreads 2")

# Of a path below example/: one line for each run.
LINES = {
    "bayesian-methods/bdk_demo.py": ["-d 1 -l 3", "-d 0 -l 3"],
    "fcn-xs/image_segmentaion.py": ["--input data/faces/none.jpg"],
    "gluon/dc_gan/dcgan.py": [
        "--dataset mnist --nepoch 1 --ngf 4 --ndf 4 --inception_score ''"],
    "gluon/image_classification.py": [
        "--dataset cifar10 --model resnet18_v1 --use_thumbnail --epochs 2"
        " --batch-size 20 --log-interval 2 --mode hybrid",
        "--dataset cifar10 --model mobilenet0.25 --epochs 1 --batch-size 20"
        " --log-interval 2 --mode imperative",
        "--dataset cifar10 --model resnet18_v2 --use_thumbnail --epochs 1"
        " --batch-size 50 --log-interval 2 --mode symbolic",
        "--dataset cifar10 --model squeezenet1.0 --epochs 1 --batch-size 50"
        " --builtin-profiler 1 --mode hybrid",
        "--dataset imagenet --data-dir data/imagenet --model mobilenetv2_0.25"
        " --epochs 1 --batch-size 2 --num-worker 1 --mode hybrid"],
    "gluon/mnist/mnist.py": ["--epochs 1"],
    "gluon/sn_gan/train.py": ["--epochs 1"],
    "gluon/style_transfer/main.py": [
        "train --cuda 0 --epochs 1 --ngf 8 --image-size 64 --style-size 64",
        "optim --cuda 0 --iters 2 --content-size 64 --style-size 64"],
    "gluon/super_resolution/super_resolution.py": [
        "--epochs 1 --batch_size 2 --test_batch_size 2"],
    "gluon/word_language_model/train.py": [
        "--epochs 1 --emsize 20 --nhid 20 --hybridize"],
    _CLASSIFY + "train_mnist.py": [
        "--num-epochs 1",
        "--num-epochs 1 --optimizer adam --lr 0.001 --monitor 400 --top-k 5",
        "--num-epochs 2 --loss ce,nll --initializer xavier --optimizer nag"
        " --model-prefix mlp --lr-step-epochs 1",
        "--num-epochs 3 --load-epoch 2 --model-prefix mlp --loss ce"],
    _CLASSIFY + "train_imagenet.py": [
        _CIFAR, _CIFAR + " --use-imagenet-data-augmentation 1", _CIFAR + " --test-io 1",
        *(f"--network {name} {more}{_IMAGENET}" for name, more in _NETWORKS.items())],
    "multivariate_time_series/src/lstnet.py": [
        "--num-epochs 1 --max-records 600 --q 48 --filter-list 6,12"
        " --num-filters 8 --recurrent-state-size 8 --save-period 1"],
    "neural_collaborative_filtering/train.py": ["--epoch 1"],
    "reinforcement-learning/parallel_actor_critic/train.py": ["--epochs 1"],
    "restricted-boltzmann-machine/binary_rbm_gluon.py": ["--num-epoch 1"],
    "restricted-boltzmann-machine/binary_rbm_module.py": ["--num-epoch 1"],
    "rnn/word_lm/train.py": ["--epochs 1 --emsize 20 --nhid 20 --nlayers 1"],
    "sparse/factorization_machine/train.py": [
        "--data-train data/avazu-app --data-test data/avazu-app.t --batch-size 100"
        " --input-size 1000 --num-epoch 2"],
    "sparse/linear_classification/train.py": [
        f"--num-epoch 2 --batch-size 200 --optimizer {name} {more}" for name, more in
        (("sgd", ""), ("adagrad", "--kvstore local"), ("adam", ""))],
    "sparse/matrix_factorization/train.py": [
        "--num-epoch 1", "--num-epoch 1 --dense --factor-size 16"],
    "svrg_module/linear_regression/train.py": ["-e 2 -b 100 -f 1", "-e 1 -m mae"],
    "vae-gan/vaegan_mxnet.py": [
        "--train --use_cpu --training_data_path data/digits --num_epoch 1 --nef 8"
        " --ndf 8 --ngf 8 --Z 10 --output_path out --checkpoint_path out"],
}
