// What Slack refuses in messages and windows, by its documentation; the sum of all texts is not documented.

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- blocks of every shape
type Json = any;

const mostBlocks = { message: 50, view: 100 };
const mostOfSection = 3_000;
const mostOfButton = { text: 75, value: 2_000, action_id: 255 };
const mostInAll = 13_200;
const mostOfTitle = 24;
const mostOfMetadata = 3_000;

/** @returns Slack's word for what is wrong; null if it takes it. */
export function problemIn({ text, blocks, view }: Json): string | null {
  if (view) return problemInView(view);
  if (!text && !blocks?.length) return 'no_text';
  if (typeof text === 'string' && text.length > 40_000) return 'msg_too_long';
  return blocks ? problemInBlocks(blocks, mostBlocks.message, 'invalid_blocks') : null;
}

function problemInView({
  type,
  title,
  submit,
  close,
  private_metadata: metadata = '',
  blocks,
}: Json): string | null {
  const labels = [title, submit, close].filter(Boolean) as Json[];
  const isLabelled = labels.every(
    (each) => each.type === 'plain_text' && each.text && each.text.length <= mostOfTitle,
  );
  if (type !== 'modal' || !title || !isLabelled || metadata.length > mostOfMetadata)
    return 'invalid_arguments';
  if (blocks.some((each: Json) => each.type === 'input') && !submit) return 'invalid_arguments';
  return problemInBlocks(blocks, mostBlocks.view, 'invalid_arguments');
}

function problemInBlocks(blocks: Json[], most: number, word: string): string | null {
  if (!Array.isArray(blocks) || blocks.length > most) return word;
  if (JSON.stringify(blocks).length > mostInAll) return 'msg_blocks_too_long';
  return blocks.every(isValid) ? null : word;
}

function isValid(block: Json): boolean {
  const isText = (text: Json, limit: number) =>
    ['mrkdwn', 'plain_text'].includes(text?.type) && text.text.length > 0 && text.text.length <= limit;
  switch (block.type) {
    case 'section':
      return (!block.text || isText(block.text, mostOfSection)) && Boolean(block.text || block.fields);
    case 'header':
      return isText(block.text, 150);
    case 'context':
      return block.elements.length <= 10 && block.elements.every((each: Json) => isText(each, mostOfSection));
    case 'actions':
      return block.elements.length <= 25 && block.elements.every(isButton);
    case 'input':
      return isText(block.label, 2_000) && Boolean(block.element?.type);
    case 'divider':
      return true;
    default:
      return false;
  }
}

const isButton = ({ type, text, value = '', action_id: id = '', style }: Json): boolean =>
  type === 'button' &&
  text.type === 'plain_text' &&
  text.text.length <= mostOfButton.text &&
  value.length <= mostOfButton.value &&
  id.length <= mostOfButton.action_id &&
  [undefined, 'primary', 'danger'].includes(style);
