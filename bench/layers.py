"""Products of matrices in layers of models, as data: name, rows, terms, columns; whether the right operand is a weight that lies as (columns, rows).

GPT-2 and BERT base have rows of tokens (8: a batch that decodes), one layer of Llama 7B likewise; ResNet-50's convolutions are weights times patches.
SPDX-License-Identifier: Apache-2.0
"""

LAYERS = (
    ("GPT-2 qkv", 1, 768, 2304, True),
    ("GPT-2 qkv", 8, 768, 2304, True),
    ("GPT-2 down", 8, 3072, 768, True),
    ("GPT-2 head", 8, 768, 50257, True),
    ("GPT-2 qkv", 1024, 768, 2304, True),
    ("GPT-2 out", 1024, 768, 768, True),
    ("GPT-2 up", 1024, 768, 3072, True),
    ("GPT-2 down", 1024, 3072, 768, True),
    ("Llama q", 1, 4096, 4096, True),
    ("Llama up", 1, 4096, 11008, True),
    ("Llama down", 1, 11008, 4096, True),
    ("Llama q", 16, 4096, 4096, True),
    ("Llama up", 16, 4096, 11008, True),
    ("Llama q", 128, 4096, 4096, True),
    ("Llama down", 128, 11008, 4096, True),
    ("Llama q", 512, 4096, 4096, True),
    ("Llama up", 512, 4096, 11008, True),
    ("BERT q", 128, 768, 768, True),
    ("BERT up", 128, 768, 3072, True),
    ("BERT down", 128, 3072, 768, True),
    ("BERT q", 4096, 768, 768, True),
    ("BERT up", 4096, 768, 3072, True),
    ("BERT down", 4096, 3072, 768, True),
    ("ResNet-50 7x7", 64, 147, 12544, False),
    ("ResNet-50 1x1", 256, 64, 3136, False),
    ("ResNet-50 3x3", 64, 576, 3136, False),
    ("ResNet-50 1x1", 128, 512, 784, False),
    ("ResNet-50 3x3", 256, 2304, 196, False),
    ("ResNet-50 3x3", 512, 4608, 49, False),
    ("ResNet-50 fc", 8, 2048, 1000, True),
)
