"""Compares what was recorded with portacl and with float64, or with another recording.

    python -m portacl compare run.rec              every operator is replayed from its recorded inputs
    python -m portacl compare one.rec other.rec    two runs, side by side
    python -m portacl compare --bisect run.rec     which operator makes the loss part

SPDX-License-Identifier: Apache-2.0
"""
