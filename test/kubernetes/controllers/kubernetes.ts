import { realServer } from '../conformance/real-server.ts';

/** An API server with controllers. */
export const setup = () => realServer('--controllers');
