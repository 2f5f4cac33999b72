import { TooLongError } from '../objects/errors.ts';

/**
 * The whole body as text. Bytes that are no UTF-8 become U+FFFD.
 * @throws TooLongError when it has more than `mostBytes`; the rest of it is not read
 */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  mostBytes: number = Number.POSITIVE_INFINITY,
): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new TooLongError(mostBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The text of a body up to the chunk with its byte `bytes`; the rest of it is not read. */
export async function readBeginning(body: AsyncIterable<Uint8Array>, bytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let read = 0;
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    read += chunk.byteLength;
    if (read >= bytes) return text;
  }
  return text + decoder.decode();
}

/**
 * The lines of a body, without their ends, wherever its chunks are cut; a last line without an end is given as well.
 * Leaving the loop early cancels the request.
 */
export async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    let start = 0;
    // Only the new text can hold a line end: a long line that comes in many chunks is not searched over and over.
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield rest + text.slice(start, end);
      rest = '';
      start = end + 1;
    }
    rest += text.slice(start);
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
