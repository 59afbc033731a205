"""The schema of the operators: what is declared once, and what is made from it."""
# SPDX-License-Identifier: Apache-2.0
