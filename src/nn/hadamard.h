#ifndef ADIT_NN_HADAMARD_H_
#define ADIT_NN_HADAMARD_H_

namespace adit::nn {

// Multiplies each of num_vectors neighbouring vectors of `dim` elements by an orthonormal Hadamard matrix in
// Sylvester's order, or, where dim is no power of two, by as many equal ones as make up dim, each as large as divides
// it. Products of two vectors that are both multiplied stay what they were but for rounding, and what was large in one
// element is spread over all: so fewer bits hold keys (QuaRot, Ashkboos et al. 2024, arXiv:2404.00456). dim * log2(dim)
// additions.
void SpreadVectors(float* x, int num_vectors, int dim);

}  // namespace adit::nn

#endif  // ADIT_NN_HADAMARD_H_
