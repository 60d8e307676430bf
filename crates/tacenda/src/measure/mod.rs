//! What a release costs: loss, precision per attribute, error of count queries.
