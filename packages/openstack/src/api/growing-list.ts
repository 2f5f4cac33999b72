import { array, type Field, type Rule, rule, transition } from './schema.ts';

/** What a list is from which nothing can be taken away. */
interface Growing {
  readonly maxItems: number;
  /** The field that tells entries apart. */
  readonly key: string;
  /** CEL of what can never change of an entry, which is the argument. */
  readonly fixed: readonly ((entry: string) => string)[];
  readonly rules: readonly Rule[];
  /** Why not, and the way out. */
  readonly message: string;
}

/** A list from which no entry can be taken away, nor can the list be left out once it has any. */
export function growingList<T>(
  description: string,
  entry: Field<T>,
  { maxItems, key, fixed, rules, message }: Growing,
): Field<readonly T[], false> {
  const same = [(one: string) => `${one}.${key}`, ...fixed].map((part) => `${part('one')} == ${part('old')}`);
  const stays = rule(`oldSelf.all(old, self.exists(one, ${same.join(' && ')}))`, message);
  return transition(array(description, entry, { maxItems, keys: [key], rules: [...rules, stays] }), {
    absent: '[]',
    // What becomes of each, the list's own rule says: CEL does not know how long a list is that may be absent.
    allows: (next, previous) => `${next}.size() > 0 || ${previous}.size() == 0`,
    message,
  });
}
