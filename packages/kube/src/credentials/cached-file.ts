import { readFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';

/** A file that others write anew from time to time: tokens, certificates. */
export interface CachedFile {
  /**
   * The content, at most a minute old. When it cannot be read any more, the last one that could.
   * @throws the error of the file system when it never could be read
   */
  read(): Promise<string>;
  /** Reads it now, and resolves with whether it has changed. */
  refresh(): Promise<boolean>;
}

/** Projected tokens are renewed at 80 % of an hour or less; client-go reads them again after this time, too. */
const maxAge = 60_000;

/** Makes a `CachedFile`. */
export function cachedFile(path: string, clock: Clock): CachedFile {
  let content: string | undefined;
  let readAt = 0;
  let reading: Promise<string> | undefined;

  async function load(): Promise<string> {
    try {
      content = await readFile(path, 'utf8');
    } catch (error) {
      if (content === undefined) throw error;
    }
    readAt = clock.monotonic();
    return content;
  }

  const loadOnce = (): Promise<string> => {
    reading ??= load().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  return {
    read: async () => (content !== undefined && clock.monotonic() - readAt < maxAge ? content : loadOnce()),
    async refresh() {
      const before = content;
      return (await loadOnce()) !== before;
    },
  };
}
