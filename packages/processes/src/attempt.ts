import { SystemError } from '@openstack-operator/sandbox';

type Kind<E extends Error> = abstract new (...parameters: never[]) => E;

/** What `run` gives, at once or later, or what `otherwise` makes of an error of that kind; others are thrown on. */
export function attempt<T, E extends Error, R>(kind: Kind<E>, run: () => T, otherwise: (error: E) => R): T | R {
  const handle = (error: unknown): R => {
    if (!(error instanceof kind)) throw error;
    return otherwise(error);
  };
  try {
    const value = run();
    return value instanceof Promise ? (value.catch(handle) as T) : value;
  } catch (error) {
    return handle(error);
  }
}

/** What `run` gives, at once or later; a system call that fails in it becomes the error that `words` makes of it. */
export function worded<T>(run: () => T, words: (error: SystemError) => Error): T {
  return attempt(SystemError, run, (error): never => {
    throw words(error);
  });
}
