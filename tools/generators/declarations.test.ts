import { expect, test } from 'vitest';
import { declarationsOf } from './declarations.ts';

const text = `import type { Clock } from './clock.ts';
/** A timer; \`{\` in its text opens nothing. */
export interface Timer {
    /** Ends it. */
    cancel(): void;
}
declare const hidden: unique symbol;
/**
 * Waits.
 *
 * @throws the signal's reason
 */
export declare function sleep(clock: Clock, options?: {
    ref?: boolean;
}): Promise<void>;
export declare class Store {
    #private;
    get size(): number;
}
export type Pod = { name: string };
export declare const Pod: () => Pod;
export {};
`;

test('declarations are found by name, whole, with their documentation', () => {
  expect(Object.fromEntries(declarationsOf(text))).toEqual({
    Timer: [
      {
        doc: 'A timer; `{` in its text opens nothing.',
        code: 'interface Timer {\n  /** Ends it. */\n  cancel(): void;\n}',
      },
    ],
    hidden: [{ doc: '', code: 'const hidden: unique symbol;' }],
    sleep: [
      {
        doc: "Waits.\n\n@throws the signal's reason",
        code: 'function sleep(clock: Clock, options?: {\n  ref?: boolean;\n}): Promise<void>;',
      },
    ],
    Store: [{ doc: '', code: 'class Store {\n  get size(): number;\n}' }],
    Pod: [
      { doc: '', code: 'type Pod = { name: string };' },
      { doc: '', code: 'const Pod: () => Pod;' },
    ],
  });
});
