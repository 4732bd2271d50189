// SPDX-License-Identifier: Apache-2.0
// An assembly file lets Go declare newDeviceManager without a body.
