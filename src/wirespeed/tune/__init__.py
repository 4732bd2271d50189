# SPDX-License-Identifier: Apache-2.0
"""Find faster settings, compare settings in turns and bisect their differences, on a real bench."""
