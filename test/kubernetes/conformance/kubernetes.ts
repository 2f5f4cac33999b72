import { realServer } from './real-server.ts';

/** An API server alone. */
export const setup = () => realServer();
