"""Kubernetes: the kubelet's list of containers and their devices."""
