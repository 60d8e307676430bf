mod k_anonymity_measured;
