/** What an error says. */
export function describe(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}
