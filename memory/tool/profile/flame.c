/*
 * flame.c - the flame graph. Each frame is an <svg> with its place and width in percent: so the
 * graph fits any window without a script, and a frame clips its text.
 */
#define _GNU_SOURCE
#include "flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "flame_parts.h"
#include "function.h"
#include "holders.h"
#include "memory/box/reader.h"
#include "memory/tool/markup.h"

#define FRAME_HEIGHT 19
#define HEAD_HEIGHT 66
#define PAGE_HEAD_HEIGHT 24 /* a page has its own */
#define NARROWEST 2.5e-4    /* of all; what is narrower is left out, and counted */
#define FRAMES_MOST 6000    /* a browser takes a second for so many; the widest are drawn */
#define ROWS_MOST 30

/* ---- names ---- */

void pfs_flame_label(const struct pfs_tree *tree, const struct pfs_node *node, FILE *out)
{
	char text[600];
	const char *name = pfs_node_name(tree, node, text, sizeof(text));
	pfs_put_bytes(out, name, pfs_short_length(name));
	if (node->file == 0 || node->function == PFS_HEAP_NONE)
		return;
	const char *file = pfs_heap_path_end(tree->heap->texts[node->file]);
	(void)fputc(' ', out);
	pfs_put_text(out, file);
	(void)fprintf(out, ":%" PRIu32, node->line);
}

/* ---- frames ---- */

struct drawing {
	const struct pfs_tree *tree;
	FILE *out;
	double all;       /* width of all */
	double narrowest; /* that is drawn, of all */
	unsigned top;     /* of the first frame */
	uint32_t depth;   /* of what is drawn */
	bool of_total;
	uint32_t left_out;
	double left_out_bytes;
};

static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xCBF29CE484222325);
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
	return hash ^ hash >> 31;
}

/* The colour: of its file; of a comparison, growth or shrinking and how much of its width. */
static void put_class(const struct drawing *drawing, const struct pfs_node *node)
{
	char text[600];
	const char *name = pfs_node_name(drawing->tree, node, text, sizeof(text));
	const struct pfs_heap *heap = drawing->tree->heap;
	uint32_t module = node->location != PFS_HEAP_NONE ? heap->locations[node->location].module
							  : PFS_HEAP_NONE;
	double by = node->grown - node->shrunk, width = node->grown + node->shrunk;
	if (heap->has_base)
		(void)fprintf(drawing->out, "%c%d", by < 0 ? 's' : 'g',
			      width <= 0 ? 0 : (int)((by < 0 ? -by : by) / width * 3.999));
	else if (module == PFS_HEAP_NONE)
		(void)fputs("c0", drawing->out);
	else
		(void)fprintf(drawing->out, "c%u v%u",
			      (unsigned)(1 + hash_of(heap->texts[heap->modules[module].path]) %
						     PFS_FLAME_COLOURS),
			      (unsigned)(hash_of(name) % 3));
}

static void put_error_and_age(const struct drawing *drawing, const struct pfs_node *node)
{
	const struct pfs_heap *heap = drawing->tree->heap;
	char oldest[32], newest[32], error[32] = "";
	if (node->parent != PFS_HEAP_NONE)
		(void)pfs_error_text(heap, &node->live, error);
	if (error[0] != '\0')
		(void)fprintf(drawing->out, "\n%s", error);
	if (node->live.oldest_ns != 0)
		(void)fprintf(drawing->out, "\nallocated %s to %s before",
			      pfs_age_text(heap, node->live.oldest_ns, oldest),
			      pfs_age_text(heap, node->live.newest_ns, newest));
}

static void put_title(const struct drawing *drawing, const struct pfs_node *node)
{
	const struct pfs_tree *tree = drawing->tree;
	char text[600], one[32], two[32], three[32], four[32];
	const char *name = pfs_node_name(tree, node, text, sizeof(text));
	FILE *out = drawing->out;
	pfs_put_text(out, name);
	(void)fputc('\n', out);
	if (node->file != 0 && node->function != PFS_HEAP_NONE) {
		const char *file = tree->heap->texts[node->file];
		pfs_put_text(out, file);
		(void)fprintf(out, ":%" PRIu32 "\n", node->line);
	}
	if (tree->heap->has_base)
		(void)fprintf(out, "grew by %s, shrank by %s: now %s, before %s\n",
			      pfs_amount((int64_t)node->grown, one),
			      pfs_amount((int64_t)node->shrunk, two),
			      pfs_amount((int64_t)node->bytes, three),
			      pfs_amount((int64_t)node->base_bytes, four));
	else
		(void)fprintf(out, "%s (%.0f bytes) in %.0f objects, ",
			      pfs_amount((int64_t)node->bytes, one), node->bytes, node->objects);
	(void)fprintf(out, "%.2f %% of %s", pfs_node_width(tree, node) / drawing->all * 100,
		      tree->heap->has_base ? "all that changed" : "all");
	if (!tree->heap->has_base && !drawing->of_total)
		put_error_and_age(drawing, node);
}

static void put_frame(struct drawing *drawing, const struct pfs_node *node, double left,
		      double width)
{
	FILE *out = drawing->out;
	(void)fputs("<svg class=\"f ", out);
	put_class(drawing, node);
	(void)fprintf(out,
		      "\" tabindex=\"%d\" x=\"%.4f%%\" y=\"%u\" width=\"%.4f%%\" "
		      "height=\"%d\"><title>",
		      node->parent == PFS_HEAP_NONE ? 0 : -1, left * 100,
		      drawing->top + node->depth * FRAME_HEIGHT, width * 100, FRAME_HEIGHT);
	put_title(drawing, node);
	(void)fputs("</title><rect width=\"100%\" height=\"100%\"/><text x=\"4\" y=\"14\">", out);
	pfs_flame_label(drawing->tree, node, out);
	(void)fputs("</text></svg>\n", out);
}

/* As deep as stacks with inlined calls: a few thousand calls. */
static void put_frames(struct drawing *drawing, uint32_t index, double left)
{
	const struct pfs_tree *tree = drawing->tree;
	const struct pfs_node *node = &tree->nodes[index];
	double width = drawing->all > 0 ? pfs_node_width(tree, node) / drawing->all : 1;
	if (width <= 0)
		return;
	if (width < drawing->narrowest) {
		drawing->left_out++;
		drawing->left_out_bytes += pfs_node_width(tree, node);
		return;
	}
	put_frame(drawing, node, left, width);
	for (uint32_t i = node->first; i != PFS_HEAP_NONE; i = tree->nodes[i].next) {
		put_frames(drawing, i, left);
		left += pfs_node_width(tree, &tree->nodes[i]) / drawing->all;
	}
}

static int wider_first(const void *one, const void *other)
{
	double a, b;
	memcpy(&a, one, sizeof(a));
	memcpy(&b, other, sizeof(b));
	return a > b ? -1 : a < b;
}

/* False: no memory. */
static bool measure(struct drawing *drawing)
{
	const struct pfs_tree *tree = drawing->tree;
	double *widths = malloc((tree->count + 1) * sizeof(*widths));
	if (widths == NULL)
		return false;
	for (uint32_t i = 0; i < tree->count; i++)
		widths[i] = pfs_node_width(tree, &tree->nodes[i]);
	qsort(widths, tree->count, sizeof(*widths), wider_first);
	drawing->narrowest = NARROWEST;
	if (tree->count > FRAMES_MOST && widths[FRAMES_MOST] > drawing->all * NARROWEST)
		drawing->narrowest = widths[FRAMES_MOST] / drawing->all;
	free(widths);
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].depth > drawing->depth &&
		    pfs_node_width(tree, &tree->nodes[i]) >= drawing->all * drawing->narrowest)
			drawing->depth = tree->nodes[i].depth;
	return true;
}

/* ---- what stands above ---- */

/* Two lines, in tags of their own. */
static void put_summary(const struct drawing *drawing, bool of_total, const char *tags[3])
{
	const struct pfs_heap *heap = drawing->tree->heap;
	const struct pfs_node *all = &drawing->tree->nodes[0];
	char one[32], two[32], three[32], four[32];
	const char *what = of_total ? "allocated since the beginning" : "in use";
	FILE *out = drawing->out;
	(void)fputs(tags[0], out);
	if (heap->has_base)
		(void)fprintf(out, "grew by %s (warm), shrank by %s (cold): %s %s, before %s",
			      pfs_amount((int64_t)all->grown, one),
			      pfs_amount((int64_t)all->shrunk, two),
			      pfs_amount((int64_t)all->bytes, three), what,
			      pfs_amount((int64_t)all->base_bytes, four));
	else
		(void)fprintf(out, "%s %s, %.0f objects", pfs_amount((int64_t)all->bytes, one),
			      what, all->objects);
	if (heap->interval > 1)
		(void)fprintf(out, "; estimated from a sample each %s%s",
			      pfs_amount((int64_t)heap->interval, one),
			      heap->is_scaled && !of_total ? ", scaled to exact sums" : "");
	if (heap->of[0] != '\0')
		(void)fprintf(out, "; %s", heap->of);
	(void)fputs(tags[1], out);
	if (drawing->all <= 0)
		(void)fputs(heap->has_base ? "Nothing changed." : "Nothing was sampled.", out);
	else
		(void)fputs("Below each frame is what it called. The widest stands first.", out);
	if (heap->lost_samples + heap->lost_stacks + heap->lost_contexts != 0)
		(void)fprintf(out,
			      " Not here: %" PRIu64 " samples, of %s, that found no room; without "
			      "a stack: %" PRIu64 "; without an owner: %" PRIu64 ".",
			      heap->lost_samples, pfs_amount((int64_t)heap->lost_bytes, one),
			      heap->lost_stacks, heap->lost_contexts);
	(void)fputs(tags[2], out);
}

static void put_name(const struct drawing *drawing)
{
	const char *name = pfs_heap_path_end(drawing->tree->heap->program);
	const char *died = drawing->tree->heap->died;
	pfs_put_text(drawing->out, name);
	if (died[0] != '\0')
		(void)fprintf(drawing->out, " %s", died);
}

static void put_head(const struct drawing *drawing, bool of_total)
{
	static const char *tags[3] = { "</text>\n<text class=\"sub\" x=\"8\" y=\"39\">",
				       "</text>\n<text class=\"sub\" x=\"8\" y=\"56\">",
				       "</text>\n" };
	(void)fputs("<text class=\"head\" x=\"8\" y=\"20\">", drawing->out);
	put_name(drawing);
	put_summary(drawing, of_total, tags);
}

static void put_svg(struct drawing *drawing, const struct pfs_flame_options *options)
{
	FILE *out = drawing->out;
	unsigned height = drawing->top + (drawing->depth + 1) * FRAME_HEIGHT + 26;
	char text[32];
	pfs_put_svg(out, pfs_flame_style, "class=\"flame\" width=\"100%%\" height=\"%u\"", height);
	drawing->left_out = 0;
	if (!options->as_page && !options->is_part)
		put_head(drawing, options->of_total);
	(void)fprintf(out,
		      "<text class=\"found\" x=\"8\" y=\"%u\"/>\n"
		      "<text class=\"search\" x=\"100%%\" y=\"%u\" dx=\"-150\" "
		      "tabindex=\"0\">search (/)</text>\n"
		      "<text class=\"reset\" x=\"100%%\" y=\"%u\" dx=\"-8\" "
		      "tabindex=\"0\">back to all of it</text>\n",
		      height - 8, drawing->top - 8, drawing->top - 8);
	put_frames(drawing, 0, 0);
	if (drawing->left_out != 0)
		(void)fprintf(out,
			      "<text class=\"sub\" x=\"100%%\" text-anchor=\"end\" dx=\"-8\" "
			      "y=\"%u\">too narrow to be drawn: "
			      "%" PRIu32 " frames of %s</text>\n",
			      height - 8, drawing->left_out,
			      pfs_amount((int64_t)drawing->left_out_bytes, text));
	(void)fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", pfs_flame_script);
}

/* ---- a page around it ---- */

static void put_row(const struct drawing *drawing, const struct pfs_holders *holders,
		    const struct pfs_holder *holder)
{
	const struct pfs_heap *heap = drawing->tree->heap;
	char amount[32], error[32] = "", oldest[32] = "", newest[32] = "", where[1600];
	bool is_live = !heap->has_base && !drawing->of_total;
	double now = drawing->of_total ? holder->now.total_bytes : holder->now.live_bytes;
	double base = drawing->of_total ? holder->base.total_bytes : holder->base.live_bytes;
	double all = heap->has_base ? drawing->all : holders->bytes;
	FILE *out = drawing->out;
	(void)fprintf(out, "<tr><td>%s<td>%s<td>%.1f<td>%s<td>%s<td><code>",
		      pfs_amount((int64_t)(heap->has_base ? now - base : now), amount),
		      is_live ? pfs_error_text(heap, &holder->now, error) : error,
		      all > 0 ? holder->weight / all * 100 : 0,
		      is_live ? pfs_age_text(heap, holder->now.oldest_ns, oldest) : oldest,
		      is_live ? pfs_age_text(heap, holder->now.newest_ns, newest) : newest);
	pfs_put_text(out, pfs_holder_text(heap, holder, where, sizeof(where)));
	(void)fputs("</code>\n", out);
}

static void put_table(const struct drawing *drawing, const struct pfs_holders *holders)
{
	FILE *out = drawing->out;
	(void)fprintf(out,
		      "<table><caption>%s, by the program&#8217;s own line</caption>\n"
		      "<tr><th>bytes<th>error<th>%%<th>oldest<th>newest<th>where\n",
		      drawing->tree->heap->has_base ? "What changed most" : "Who holds most");
	for (uint32_t i = 0; i < holders->count && i < ROWS_MOST; i++)
		put_row(drawing, holders, &holders->holders[i]);
	(void)fputs("</table>\n", out);
}

static void put_page(struct drawing *drawing, const struct pfs_flame_options *options,
		     const struct pfs_holders *holders)
{
	static const char *tags[3] = { "</h1>\n<p>", "<br>\n", "</p>\n" };
	FILE *out = drawing->out;
	pfs_put_doctype(out);
	put_name(drawing);
	(void)fprintf(out, "</title>\n<style>%s</style></head>\n<body>\n<h1>",
		      pfs_flame_page_style);
	put_name(drawing);
	put_summary(drawing, options->of_total, tags);
	put_svg(drawing, options);
	put_table(drawing, holders);
	(void)fputs("</body></html>\n", out);
}

bool pfs_flame_write(const struct pfs_heap *heap, const struct pfs_flame_options *options,
		     FILE *out, struct pfs_message *message)
{
	const struct pfs_holders_options by = { .of_total = options->of_total };
	struct pfs_tree *tree = pfs_tree_make(heap, options->of_total);
	struct pfs_holders holders = { 0 };
	bool fine = tree != NULL && pfs_holders_make(&holders, heap, options->rules, &by);
	if (fine) {
		bool has_head = !options->as_page && !options->is_part;
		struct drawing drawing = { .tree = tree,
					   .out = out,
					   .of_total = options->of_total,
					   .top = has_head ? HEAD_HEIGHT : PAGE_HEAD_HEIGHT,
					   .all = pfs_node_width(tree, &tree->nodes[0]) };
		fine = measure(&drawing);
		if (fine && options->as_page)
			put_page(&drawing, options, &holders);
		else if (fine)
			put_svg(&drawing, options);
	}
	pfs_holders_drop(&holders);
	pfs_tree_free(tree);
	bool is_written = fine && fflush(out) == 0 && ferror(out) == 0;
	return is_written ||
	       pfs_refuse(message, fine ? "the graph cannot be written: check the free space"
					: "no memory for the graph");
}
