"""The MIG layout: reads it, checks rights and holders, carries a plan out."""
