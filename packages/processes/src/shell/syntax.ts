/** A shell word: its parts are joined after expansion. */
export type Word = readonly WordPart[];

/** One piece of a word. `quoted` parts are neither split into fields nor taken as patterns. */
export type WordPart =
  | { readonly kind: 'text'; readonly text: string; readonly quoted: boolean }
  | {
      readonly kind: 'parameter';
      readonly name: string;
      readonly quoted: boolean;
      /** Such as `:-`, `%%`; `length` is `${#name}`. */
      readonly operator?: ParameterOperator;
      readonly operand?: Word;
    }
  | { readonly kind: 'command'; readonly script: Script; readonly quoted: boolean }
  | { readonly kind: 'arithmetic'; readonly expression: Word; readonly quoted: boolean };

/** What may follow the name in `${name...}`. */
export type ParameterOperator = ':-' | '-' | ':=' | '=' | ':?' | '?' | ':+' | '+' | '%' | '%%' | '#' | '##' | 'length';

/** A redirection; `target` of `<<` is the here-document itself, of `>&` and `<&` a descriptor's number. */
export interface Redirection {
  readonly descriptor: number;
  readonly operator: '<' | '>' | '>>' | '>|' | '>&' | '<&' | '<<' | '<<<' | '&>';
  readonly target: Word;
}

/** `name=value` before or instead of a command. */
export interface Assignment {
  readonly name: string;
  readonly value: Word;
}

/** One command, simple or compound. */
export type Command =
  | {
      readonly kind: 'simple';
      readonly assignments: readonly Assignment[];
      readonly words: readonly Word[];
      readonly redirections: readonly Redirection[];
      readonly line: number;
    }
  | {
      readonly kind: 'if';
      readonly branches: readonly { readonly condition: Script; readonly body: Script }[];
      readonly otherwise?: Script;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly kind: 'loop';
      readonly until: boolean;
      readonly condition: Script;
      readonly body: Script;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly kind: 'for';
      readonly variable: string;
      /** Absent: the positional parameters. */
      readonly words?: readonly Word[];
      readonly body: Script;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly kind: 'case';
      readonly subject: Word;
      readonly clauses: readonly { readonly patterns: readonly Word[]; readonly body: Script }[];
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly kind: 'group';
      readonly subshell: boolean;
      readonly body: Script;
      readonly redirections: readonly Redirection[];
    }
  | { readonly kind: 'function'; readonly name: string; readonly body: Command };

/** Commands joined by `|`. */
export interface Pipeline {
  readonly negated: boolean;
  readonly commands: readonly Command[];
}

/** Pipelines joined by `&&` and `||`. */
export interface AndOr {
  readonly first: Pipeline;
  readonly rest: readonly { readonly operator: '&&' | '||'; readonly pipeline: Pipeline }[];
  readonly background: boolean;
}

/** A list of commands. */
export type Script = readonly AndOr[];

/** The script is not valid, or uses what this shell does not know: it refuses rather than ignores. */
export class ShellSyntaxError extends Error {
  override readonly name = 'ShellSyntaxError';
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}
