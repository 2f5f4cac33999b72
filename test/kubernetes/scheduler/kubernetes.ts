import { realServer } from '../conformance/real-server.ts';

/** An API server with controllers and scheduler. */
export const setup = () => realServer('--controllers', '--scheduler');
