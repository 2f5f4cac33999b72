import type { Connection, Session } from '@openstack-operator/sandbox';

/** What a server answers to one request: what it gives, or what it refuses with. */
interface Answer {
  readonly value?: unknown;
  readonly refusal?: { readonly error: unknown };
}

/** A server's side of a connection: what `answer` throws is thrown where the client asks. */
export function answering(answer: (request: never) => unknown): Session['receive'] {
  return async (message): Promise<Answer> => {
    try {
      return { value: await answer(message as never) };
    } catch (error) {
      return { refusal: { error } };
    }
  };
}

/** Asks an answering server. @throws what it refuses with, SystemError when the connection is lost */
export async function ask<T>(connection: Connection, request: unknown): Promise<T> {
  const { value, refusal } = (await connection.call(request)) as Answer;
  if (refusal !== undefined) throw refusal.error;
  return value as T;
}
