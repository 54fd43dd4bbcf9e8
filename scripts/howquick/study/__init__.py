"""From a study file to cells and arms: parameters, arms, workloads, and whether what is named exists."""
