import type { Token, Tokens } from 'marked';

/** What a piece of Markdown says, without its marks: cells and lines are set apart by spaces. Comments say nothing. */
export function textOf(token: Token): string {
  switch (token.type) {
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return join([header, ...rows].flat().map((cell) => ofAll(cell.tokens)));
    }
    case 'list':
      return join((token as Tokens.List).items.map((item) => join(item.tokens.map(textOf))));
    case 'html':
    case 'def':
      return '';
    case 'br':
      return ' ';
    case 'image':
      return (token as Tokens.Image).text;
  }
  return 'tokens' in token && token.tokens ? ofAll(token.tokens) : 'text' in token ? token.text : '';
}

/** Inline pieces touch each other; blocks don't. */
const ofAll = (tokens: Token[]): string => tokens.map(textOf).join('');
const join = (texts: string[]): string => texts.filter((text) => text !== '').join(' ');
