/**
 * The texts of a `Warning` header as the API server sends it: `299 - "text", 299 - "other"` (RFC 7234, section 5.5).
 * What is not of that form is left out.
 */
export function parseWarnings(header: string | undefined): string[] {
  if (header === undefined) return [];
  const texts: string[] = [];
  for (const [, text = ''] of header.matchAll(/\d{3} [^\s"]+ "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/gu)) {
    texts.push(text.replace(/\\(.)/gu, '$1'));
  }
  return texts;
}
