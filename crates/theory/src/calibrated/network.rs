//! Small networks of hyperbolic tangents, which are the fitted corrections.

/// One layer: a matrix by rows of inputs, and an offset for each output.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Weights, one row for each input.
    pub matrix: Vec<f64>,
    /// Values that are added to the outputs.
    pub offset: Vec<f64>,
}

/// A network whose layers are joined by hyperbolic tangents.
#[derive(Clone, Debug)]
pub struct Network(Vec<Layer>);

impl Network {
    /// Returns the network of these layers; None if they do not fit together or to the numbers of
    /// inputs and outputs.
    pub fn new(layers: Vec<Layer>, inputs: usize, outputs: usize) -> Option<Self> {
        let mut width = inputs;
        for layer in &layers {
            if layer.offset.is_empty() || layer.matrix.len() != width * layer.offset.len() {
                return None;
            }
            width = layer.offset.len();
        }
        (width == outputs && !layers.is_empty()).then_some(Self(layers))
    }

    /// Returns the outputs for these inputs.
    pub fn values(&self, inputs: &[f64]) -> Vec<f64> {
        let mut values = inputs.to_vec();
        for (depth, layer) in self.0.iter().enumerate() {
            if depth > 0 {
                for value in &mut values {
                    *value = libm::tanh(*value);
                }
            }
            let mut outputs = layer.offset.clone();
            for (value, row) in values.iter().zip(layer.matrix.chunks(outputs.len())) {
                for (output, weight) in outputs.iter_mut().zip(row) {
                    *output += value * weight;
                }
            }
            values = outputs;
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_joined_by_hyperbolic_tangents() {
        let first = Layer {
            matrix: vec![1.0, 0.0, 0.0, 2.0],
            offset: vec![0.0, 0.5],
        };
        let second = Layer {
            matrix: vec![3.0, 1.0],
            offset: vec![-1.0],
        };
        let network = Network::new(vec![first.clone(), second], 2, 1).unwrap();
        let expected = 3.0 * 0.25_f64.tanh() + 0.9_f64.tanh() - 1.0;
        assert!((network.values(&[0.25, 0.2])[0] - expected).abs() < 1e-15);
        assert!(Network::new(vec![first], 3, 2).is_none());
        assert!(Network::new(Vec::new(), 2, 2).is_none());
    }
}
