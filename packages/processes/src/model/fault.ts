import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../http.ts';

/** An API refuses a request: HTTP status, message, and the name of the exception where the API tells it. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly status: number;
  readonly type: string;

  constructor(status: number, message: string, type = '') {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** HTTP's name of a status. */
export function titleOf(status: number): string {
  return titles[status] ?? 'Internal Server Error';
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'Request Entity Too Large',
  503: 'Service Unavailable',
};

/** How an API words what it refuses. */
export interface FaultWords {
  /** The body of an answer. */
  body(fault: Fault): unknown;
  /** Of one that is not there; `item` as bodies name it. */
  notFound(item: string, id: string): Fault;
  /** Of one whose unique columns another one has. */
  conflict(item: string, row: Readonly<Record<string, unknown>>): Fault;
  /** Of a column that must be given. */
  required(item: string, column: string): Fault;
  /** Of what the caller's roles do not allow; the rule as policies name it. */
  forbidden(rule: string): Fault;
}

/** The words of most APIs; what an API says otherwise stands in its table. */
export const commonWords: FaultWords = {
  body: ({ status, message }) => ({ error: { code: status, title: titleOf(status), message } }),
  notFound: (item, id) => new Fault(404, `${item} ${id} could not be found.`, 'NotFound'),
  conflict: (item, row) => new Fault(409, `${item} ${String(row['name'] ?? row['id'])} already exists.`, 'Conflict'),
  required: (_item, column) => new Fault(400, `'${column}' is a required property`, 'BadRequest'),
  forbidden: (rule) => new Fault(403, `Policy doesn't allow ${rule} to be performed.`, 'Forbidden'),
};

/** What a client gets for a fault. */
export function faultReply(words: FaultWords, fault: Fault): HttpReply {
  return json(fault.status, words.body(fault));
}
