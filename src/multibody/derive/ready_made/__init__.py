"""Ready-made systems, one file each; `multibody.derive.systems` has them by name."""
