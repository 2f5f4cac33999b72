import { Secret } from '@openstack-operator/kube';
import type { Pass } from './pass.ts';
import { decodeData } from './secret-values.ts';

/** Shorter values are no secrets, or could stand anywhere. */
const shortest = 8;

/**
 * Takes the values of a namespace's Secrets out of a text: last words of programs go into conditions and events, and
 * some programs say what they were given. Names of users are no secrets; files of several lines are made of values
 * that are in other Secrets too.
 */
export function redactor({ cache, object }: Pick<Pass, 'cache' | 'object'>): (text: string) => string {
  let known: string[] | undefined;
  return (text) => {
    if (text === '') return text;
    known ??= cache
      .list(Secret, { namespace: object.metadata.namespace ?? '' })
      .flatMap(({ data }) =>
        Object.entries(decodeData(data)).flatMap(([key, value]) =>
          isSecret(key, value) ? [value, encodeURIComponent(value)] : [],
        ),
      );
    return known.reduce((rest, value) => rest.replaceAll(value, '[redacted]'), text);
  };
}

function isSecret(key: string, value: string): boolean {
  return value.length >= shortest && !value.includes('\n') && !/user(name)?$/i.test(key);
}
