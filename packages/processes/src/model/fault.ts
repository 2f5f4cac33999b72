/** An API refuses a request: HTTP status and its name, message, and the name of the exception where the API tells it. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly status: number;
  readonly title: string;
  readonly type: string;

  constructor(status: number, message: string, type?: string) {
    super(message);
    this.status = status;
    this.title = titles[status] ?? 'Internal Server Error';
    this.type = type ?? this.title.replaceAll(' ', '');
  }
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
  /** Of one that is not there (404); `item` as bodies name it. */
  notFound(item: string, id: string): string;
  /** Of one whose unique columns another one has (409). */
  conflict(item: string, row: Readonly<Record<string, unknown>>): string;
  /** Of a column that must be given (400). */
  required(item: string, column: string): string;
  /** Of what the caller's roles do not allow (403); the rule as policies name it. */
  forbidden(rule: string): string;
}

/** The words of most APIs; what an API says otherwise stands in its table. */
export const commonWords: FaultWords = {
  body: ({ status, title, message }) => ({ error: { code: status, message, title } }),
  notFound: (item, id) => `${item} ${id} could not be found.`,
  conflict: (item, row) => `${item} ${String(row['name'] ?? row['id'])} already exists.`,
  required: (_item, column) => `'${column}' is a required property`,
  forbidden: (rule) => `Policy doesn't allow ${rule} to be performed.`,
};

/** The body of a fault as Nova and Cinder have it. */
export function namedFault({ status, message }: Fault): unknown {
  return { [faultNames[status] ?? 'computeFault']: { code: status, message } };
}

const faultNames: Readonly<Record<number, string>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
};
