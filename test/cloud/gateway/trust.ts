import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inject } from 'vitest';

// What the Python clients are told by clouds.yaml.
setDefaultCACertificates([...getCACertificates('default'), readFileSync(inject('certificate'), 'utf8')]);
