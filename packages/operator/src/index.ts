/** Placeholder until the first module stands. */
export const name = 'operator';
