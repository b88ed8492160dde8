//! Draws a terminal's screen as SVG, colours included.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

const WIDTH: usize = 8;
const HEIGHT: usize = 17;
const PAPER: &str = "#1a1b26";
const INK: &str = "#d5d8e6";

/// The screen as an SVG document.
pub fn svg(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let (width, height) = (usize::from(columns) * WIDTH + 16, usize::from(rows) * HEIGHT + 16);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{PAPER}\"/>\n"
    );
    for row in 0..rows {
        let cells: Vec<&Cell> = (0..columns).filter_map(|column| screen.cell(row, column)).collect();
        draw_row(&mut out, usize::from(row), &cells);
    }
    out + "</svg>\n"
}

fn draw_row(out: &mut String, row: usize, cells: &[&Cell]) {
    let mut column = 0;
    while column < cells.len() {
        let first = cells[column];
        // Neighbours that look the same are drawn at once.
        let alike = cells[column..]
            .iter()
            .take_while(|cell| look(cell) == look(first))
            .count();
        let text: String = cells[column..column + alike]
            .iter()
            .filter(|cell| !cell.is_wide_continuation())
            .map(|cell| if cell.has_contents() { cell.contents() } else { " " })
            .collect();
        let (ink, paper) = colours(first);
        let (x, y) = (8 + column * WIDTH, 8 + row * HEIGHT);
        if paper != PAPER {
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>",
                alike * WIDTH
            );
        }
        if !text.trim().is_empty() {
            let weight = if first.bold() { " font-weight=\"bold\"" } else { "" };
            let slant = if first.italic() { " font-style=\"italic\"" } else { "" };
            let faint = if first.dim() { " opacity=\"0.65\"" } else { "" };
            let _ = writeln!(
                out,
                "<text x=\"{x}\" y=\"{}\" fill=\"{ink}\" xml:space=\"preserve\" textLength=\"{}\"{weight}{slant}{faint}>{}</text>",
                y + 13,
                alike * WIDTH,
                escaped(&text)
            );
        }
        column += alike;
    }
}

fn look(cell: &Cell) -> (Color, Color, bool, bool, bool, bool) {
    (
        cell.fgcolor(),
        cell.bgcolor(),
        cell.bold(),
        cell.italic(),
        cell.dim(),
        cell.inverse(),
    )
}

fn colours(cell: &Cell) -> (String, String) {
    let ink = colour(cell.fgcolor(), INK);
    let paper = colour(cell.bgcolor(), PAPER);
    if cell.inverse() { (paper, ink) } else { (ink, paper) }
}

fn colour(colour: Color, default: &str) -> String {
    match colour {
        Color::Default => default.to_owned(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Idx(index) => indexed(index),
    }
}

/// The 256 colours of xterm.
fn indexed(index: u8) -> String {
    const SYSTEM: [&str; 16] = [
        "#15161e", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#a9b1d6", "#414868", "#ff899d",
        "#9fe044", "#faba4a", "#8db0ff", "#c7a9ff", "#a4daff", "#c0caf5",
    ];
    match index {
        0..=15 => SYSTEM[usize::from(index)].to_owned(),
        16..=231 => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = index - 16;
            format!(
                "#{:02x}{:02x}{:02x}",
                level(cube / 36),
                level(cube / 6 % 6),
                level(cube % 6)
            )
        }
        grey => {
            let level = 8 + 10 * (grey - 232);
            format!("#{level:02x}{level:02x}{level:02x}")
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
