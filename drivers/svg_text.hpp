// Functions that write the elements of plots as SVG text. A style is a list of attributes. Each element is written on a
// line of its own, except for circles, of which several share a line.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace svg_text {

inline std::string number(double value, int digits = 1) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

inline std::string escaped(const std::string &text) {
    std::string result;
    for (const char c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return result;
}

// Returns an SVG attribute in the form name="value".
inline std::string attribute(const std::string &name, const std::string &value) { return name + "=\"" + value + "\""; }
inline std::string attribute(const std::string &name, double value, int digits = 1) {
    return attribute(name, number(value, digits));
}

inline std::string element(const std::string &name, const std::string &style) {
    return "<" + name + " " + style + "/>\n";
}
inline std::string element(const std::string &name, const std::string &style, const std::string &content) {
    return "<" + name + " " + style + ">" + content + "</" + name + ">\n";
}

// Returns an upper bound of the width of a text, from the widths of common letters. The actual width depends on the
// viewer's font.
inline double reach(const std::string &text, int font_size, bool bold = false) {
    double letters = 0;
    for (const char c : text)
        // Bytes of the form 10xxxxxx continue a character of UTF-8 and are not counted.
        letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return letters * font_size * (bold ? 0.6 : 0.61);
}

inline std::string place(double x, double y, int digits = 1) {
    return attribute("x", x, digits) + " " + attribute("y", y, digits);
}
inline std::string size(double width, double height, int digits = 1) {
    return attribute("width", width, digits) + " " + attribute("height", height, digits);
}

inline std::string fill(const std::string &colour) { return attribute("fill", colour); }
inline std::string stroke(const std::string &colour, double width) {
    return attribute("stroke", colour) + " " + attribute("stroke-width", width);
}

inline std::string line(double x1, double y1, double x2, double y2, const std::string &style) {
    return element("line", attribute("x1", x1) + " " + attribute("y1", y1) + " " + attribute("x2", x2) + " " +
                               attribute("y2", y2) + " " + style);
}

inline std::string words(double x, double y, const std::string &style, const std::string &content) {
    return element("text", place(x, y) + " " + style, content);
}

inline std::string rectangle(double x, double y, double width, double height, const std::string &style,
                             int digits = 1) {
    return element("rect", place(x, y, digits) + " " + size(width, height, digits) + " " + style);
}

inline std::string circle(double x, double y, const std::string &style) {
    return "<circle " + attribute("cx", x) + " " + attribute("cy", y) + " " + style + "/>";
}

// Returns one command of an SVG path. command: M moves to the point (x, y), L draws a line to it.
inline std::string point(const char *command, double x, double y, int digits = 1) {
    return command + number(x, digits) + " " + number(y, digits);
}

inline std::string path(const std::string &points, const std::string &style) {
    return element("path", attribute("d", points) + " " + style);
}

inline std::string moved(double x, double y, const std::string &content) {
    return element("g", attribute("transform", "translate(" + number(x, 0) + " " + number(y, 0) + ")"), "\n" + content);
}

inline std::string power_of_ten(int exponent) {
    return std::string("10<tspan dy=\"-5\" font-size=\"10\">") + (exponent < 0 ? "\u2212" : "") +
           std::to_string(std::abs(exponent)) + "</tspan>";
}

// Returns the width that a plot needs for its complete title and subtitle.
inline double reach_of_heading(double left, const std::string &title, const std::string &subtitle) {
    return left + 8 + std::max(reach(title, 18, true), reach(subtitle, 13));
}

// Returns a title and, below it, a subtitle as SVG text.
inline std::string heading(double left, const std::string &title, const std::string &subtitle) {
    return words(left, 34, "font-size=\"18\" font-weight=\"bold\" fill=\"#111\"", escaped(title)) +
           words(left, 58, "fill=\"#666\"", escaped(subtitle));
}

// Returns a complete SVG file with the content on a white background. The picture scales to the available space.
inline std::string file(double width, double height, int font_size, const std::string &content) {
    const std::string view = attribute("viewBox", "0 0 " + number(width, 0) + " " + number(height, 0));
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size(width, height, 0) + " " + view +
           " font-family=\"Helvetica, Arial, sans-serif\" font-size=\"" + std::to_string(font_size) +
           "\" fill=\"#333\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + content + "</svg>\n";
}

} // namespace svg_text
