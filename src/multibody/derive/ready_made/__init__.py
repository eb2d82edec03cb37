"""Ready-made systems by kind; `multibody.derive.systems` has them by name."""
