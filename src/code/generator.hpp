// SPDX-License-Identifier: BSD-2-Clause
// Apart from the storage code, because programs that name it do not need Eigen.
#pragma once

namespace quorate {

/// How the matrix G of a storage code is made (code/storage_code.hpp).
enum class Generator {
    haar,        // orthonormal columns, the best of 20 draws: the default for dense data
    systematic,  // the unit matrix above random rows: the first L machines store plain blocks
    fourier      // rows of a real Fourier matrix in golden order: best where P / L is small
};

}  // namespace quorate
